"""Names of people as conferences have them: many languages, scripts, orders and lengths. Only data.

A name is its spelling in Latin letters and, where people write it so, the one of its own script.
"""

from dataclasses import dataclass

type Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Culture:
    """Given and family names that go together. `weight`: how many of a hundred people bear such names.

    `own` says how the native spelling is put together, from `given` and `family`; empty where there is none.
    """

    weight: int
    given: tuple[Name, ...]
    family: tuple[Name, ...]
    own: str = ""
    institutions: tuple[tuple[str, str], ...] = ()


def latin(names: str) -> tuple[Name, ...]:
    """Return names that have one spelling."""
    return tuple((name.replace("_", " "), "") for name in names.split())


def both(names: str) -> tuple[Name, ...]:
    """Return names given as "Wei/伟"."""
    pairs = (pair.split("/") for pair in names.split())
    return tuple((name.replace("_", " "), native) for name, native in pairs)


CULTURES = (
    Culture(
        30,
        both(
            "Wei/伟 Fang/芳 Jing/静 Lei/磊 Yan/艳 Jun/军 Jie/杰 Xiaoming/晓明 Yuhan/雨涵 Zihao/子豪 Haoran/浩然 Yifan/一凡 "
            "Ruoxi/若曦 Mengyao/梦瑶 Zixuan/梓轩 Tianyi/天翼 Siyuan/思远 Jiaqi/佳琪 Minghao/明昊 Xinyue/欣悦 Bo/博 Hao/浩 Peng/鹏 "
            "Chenxi/晨曦 Yuxin/雨欣 Zhiyuan/志远 Kai/凯 Rui/睿 Shuai/帅 Qian/倩 Weijie/伟杰 Yichen/一辰 Zhengyu/正宇 Lan/兰"
        ),
        both(
            "Wang/王 Li/李 Zhang/张 Liu/刘 Chen/陈 Yang/杨 Huang/黄 Zhao/赵 Wu/吴 Zhou/周 Xu/徐 Sun/孙 Ma/马 Zhu/朱 Hu/胡 Guo/郭 "
            "He/何 Lin/林 Luo/罗 Gao/高 Liang/梁 Song/宋 Zheng/郑 Xie/谢 Han/韩 Tang/唐 Feng/冯 Yu/于 Dong/董 Xiao/萧 Ouyang/欧阳 Lü/吕"
        ),
        "{family}{given}",
        (
            ("Tianhe University", "China"),
            ("Donghu Institute of Technology", "China"),
            ("Lanzhou Academy of Computing", "China"),
            ("Pearl River University", "China"),
            ("Beihai Laboratory for Intelligence", "China"),
        ),
    ),
    Culture(
        26,
        latin(
            "Emma Olivia James William Sophia Mary-Ann Benjamin Charlotte Jack Alice Daniel Grace Samuel Hannah Thomas Lucy George "
            "Rebecca Adam Nora Henry Laura Peter Ruth Owen Megan Ryan Ella Dylan Zoe Aidan Fiona Callum Sinéad Niamh"
        ),
        latin(
            "Smith Johnson Brown Taylor Miller Davis Wilson Clark Lewis Walker Hall Young Allen King Wright Scott Green Baker Adams "
            "Nelson Carter Mitchell O’Brien McCarthy Parker Collins Stewart Morris Rogers Reed Cook Morgan Bell Murphy Smith-Jones "
            "van_der_Berg St._Clair MacDonald"
        ),
        "",
        (
            ("Northern Lakes University", "United States"),
            ("Bayview Institute of Technology", "United States"),
            ("University of Eastmoor", "United Kingdom"),
            ("Maple State University", "Canada"),
            ("Harbour Research Labs", "Australia"),
            ("Cedar AI", "United States"),
        ),
    ),
    Culture(
        8,
        both(
            "Min-jun/민준 Seo-yeon/서연 Ji-hoon/지훈 Ha-eun/하은 Do-yun/도윤 Ye-jin/예진 Sung-min/성민 Jiwoo/지우 Hyun-woo/현우 Soo-bin/수빈 "
            "Dong-hyun/동현 Eun-ji/은지 Tae-yang/태양 Yuna/유나"
        ),
        both(
            "Kim/김 Lee/이 Park/박 Choi/최 Jung/정 Kang/강 Cho/조 Yoon/윤 Jang/장 Lim/임 Shin/신 Hwang/황 Namgung/남궁"
        ),
        "{family}{given}",
        (("Hangang University", "South Korea"), ("Daejeon Graduate School of Computing", "South Korea")),
    ),
    Culture(
        9,
        both(
            "Aarav/आरव Priya/प्रिया Rohan/रोहन Ananya/अनन्या Vikram/विक्रम Kavya/काव्या Arjun/अर्जुन Neha/नेहा Sanjay/संजय Meera/मीरा "
            "Rahul/राहुल Divya/दिव्या Karthik/कार्तिक Lakshmi/लक्ष्मी"
        ),
        both(
            "Sharma/शर्मा Patel/पटेल Gupta/गुप्ता Iyer/अय्यर Reddy/रेड्डी Singh/सिंह Kumar/कुमार Rao/राव Joshi/जोशी "
            "Krishnamurthy/कृष्णमूर्ति Mukherjee/मुखर्जी Nair/नायर"
        ),
        "{given} {family}",
        (("Deccan Institute of Science", "India"), ("Ganga Technical University", "India")),
    ),
    Culture(
        8,
        latin(
            "Lukas Jürgen Käthe Søren Björn Åsa Françoise Éloïse José María Inês João Łukasz Małgorzata Zdeněk Jiří Gábor Zsófia Ștefan "
            "Ioana Müge Çağla Jón Guðrún Giulia Matteo Niccolò Noël Anaïs Benoît Núria Iñaki Mette Väinö Jaana"
        ),
        latin(
            "Müller Schröder Größmann Åkesson Sørensen Jørgensen Lefèvre Dubois_de_Montreynaud García_Márquez Núñez Gonçalves Araújo "
            "Wiśniewska Kowalczyk Dvořák Novotný Szabó Kovács Ionescu Popescu Yılmaz Öztürk Þorsteinsdóttir Sigurðsson Rossi D’Angelo "
            "de_la_Cruz van_den_Heuvel von_der_Leyen-Huber Häkkinen Etxeberria ’t_Hooft"
        ),
        "",
        (
            ("Technische Universität Seeheim", "Germany"),
            ("Universidad del Valle Alto", "Spain"),
            ("École Nationale de Calcul", "France"),
            ("Università di Monteverde", "Italy"),
            ("Nordhavn Universitet", "Denmark"),
        ),
    ),
    Culture(
        5,
        both(
            "Haruto/陽翔 Yui/結衣 Sota/蒼太 Aoi/葵 Ren/蓮 Sakura/さくら Kenji/健二 Yōko/洋子 Takumi/拓海 Misaki/美咲 Ryō/涼 Naoko/直子"
        ),
        both(
            "Satō/佐藤 Suzuki/鈴木 Takahashi/高橋 Tanaka/田中 Watanabe/渡辺 Itō/伊藤 Yamamoto/山本 Nakamura/中村 Kobayashi/小林 Ōno/大野"
        ),
        "{family} {given}",
        (("Kamogawa University", "Japan"), ("Institute for Language Research Sendai", "Japan")),
    ),
    Culture(
        4,
        both(
            "Alexey/Алексей Dmitry/Дмитрий Anastasia/Анастасия Olga/Ольга Sergey/Сергей Ekaterina/Екатерина Oleksandr/Олександр "
            "Iryna/Ірина Mykola/Микола Nadezhda/Надежда"
        ),
        both(
            "Ivanov/Иванов Petrov/Петров Kuznetsova/Кузнецова Volkov/Волков Shevchenko/Шевченко Kovalenko/Коваленко Morozov/Морозов "
            "Tkachenko/Ткаченко Rimsky-Korsakov/Римский-Корсаков"
        ),
        "{given} {family}",
        (("Dnipro Polytechnic", "Ukraine"), ("Institute of Applied Inference", "Kazakhstan")),
    ),
    Culture(
        4,
        both(
            "Mohammed/محمد Fatima/فاطمة Omar/عمر Aisha/عائشة Youssef/يوسف Layla/ليلى Ali/علي Noor/نور Hassan/حسن Zahra/زهرا Reza/رضا"
        ),
        both(
            "al-Khatib/الخطيب Haddad/حداد el-Sayed/السيد Rahmani/رحمانی Hosseini/حسینی bin_Salim/بن_سالم Khalil/خليل Mansour/منصور"
        ),
        "{given} {family}",
        (("Gulf University of Science", "Qatar"), ("Alborz Institute of Technology", "Iran")),
    ),
    Culture(
        3,
        both(
            "Yael/יעל Noam/נועם Tamar/תמר Eitan/איתן Michal/מיכל Georgios/Γεώργιος Eleni/Ελένη Nikos/Νίκος Somchai/สมชาย Ananda/อานันท์"
        ),
        both(
            "Cohen/כהן Levi/לוי Mizrahi/מזרחי Papadopoulos/Παπαδόπουλος Nikolaidou/Νικολαΐδου Wongsakul/วงศ์สกุล Saetang/แซ่ตั้ง"
        ),
        "{given} {family}",
        (("Carmel Institute", "Israel"), ("University of Nea Polis", "Greece")),
    ),
    Culture(
        3,
        latin(
            "Nguyễn Thị_Hương Văn_Đức Minh_Anh Chiamaka Oluwaseun Kwame Thandiwe Abebe Wanjiru Nthabiseng Putri I_Made"
        ),
        latin("Nguyễn Trần Phạm Đặng Okafor Adeyemi Mensah Dlamini Tadesse Kamau Suryadi Wijaya Lê"),
        "",
        (
            ("Mekong University", "Vietnam"),
            ("Lagos Centre for Machine Intelligence", "Nigeria"),
            ("Universitas Nusantara Raya", "Indonesia"),
        ),
    ),
)
